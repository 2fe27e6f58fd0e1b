import type { Engine } from '../../engine/engine.ts';
import type { AskPage } from '../../faces/ask-page/ask-page.ts';
import type { PersonPages } from '../../faces/mcp/elicit/elicit.ts';

/** Pages for the person, loaded and served with the first question. */
export function askPages(engine: Engine): PersonPages {
  let pages: Promise<AskPage> | undefined;
  const open = async (): Promise<AskPage> => {
    const { AskPage } = await import('../../faces/ask-page/ask-page.ts');
    const page = new AskPage(engine);
    const end = (): void => engine.background(page[Symbol.asyncDispose]());
    if (engine.closing.aborted) end();
    else engine.closing.addEventListener('abort', end, { once: true });
    return page;
  };
  return { link: async (question) => await (await (pages ??= open())).link(question) };
}
