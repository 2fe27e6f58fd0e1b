/**
 * xterm.js writes `<style>` elements and, for cells in colours of their own, style attributes. Our policy forbids both. Its elements get a
 * stylesheet of the document instead: the text goes into it, and removing the element takes it out. Attributes become properties.
 */
export function allowXtermStyles(): void {
  const create = document.createElement.bind(document);
  HTMLSpanElement.prototype.setAttribute = function (this: HTMLSpanElement, name: string, value: string): void {
    if (name === 'style') this.style.cssText = value;
    else Element.prototype.setAttribute.call(this, name, value);
  };
  document.createElement = ((tag: string, options?: ElementCreationOptions) => {
    // Even an empty style element violates the policy: another element that shows nothing stands in its place.
    return tag === 'style' ? asStylesheet(create('template')) : create(tag, options);
  }) as typeof document.createElement;
}

function asStylesheet(element: HTMLTemplateElement): HTMLTemplateElement {
  const sheet = new CSSStyleSheet();
  let text = '';
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(element, 'textContent', {
    get: () => text,
    set: (value: string) => {
      text = value;
      sheet.replaceSync(value);
    },
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
