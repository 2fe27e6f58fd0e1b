/**
 * xterm.js writes `<style>` elements, which our policy forbids. Its elements get a stylesheet of the document instead: the text goes into
 * it, and removing the element takes it out.
 */
export function allowXtermStyles(): void {
  const create = document.createElement.bind(document);
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
