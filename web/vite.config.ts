import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

/** The page needs this font for its first words, and would else learn of it from the stylesheet. */
const preloadFont: Plugin = {
  name: 'preload-font',
  transformIndexHtml: {
    order: 'post',
    handler(_html, { bundle = {} }) {
      const font = Object.keys(bundle).find((file) => /\bgeist-latin-wght-normal-.*\.woff2$/.test(file));
      if (font === undefined) return [];
      const attrs = { rel: 'preload', as: 'font', type: 'font/woff2', href: `/${font}`, crossorigin: true };
      return [{ tag: 'link', attrs, injectTo: 'head' }];
    },
  },
};

/** The dashboard, built into `dist/web` and served by `fairlead serve`. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [svelte(), preloadFont],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // We make no custom elements; Svelte does not say that the module for them does nothing by itself.
      treeshake: {
        moduleSideEffects: [{ test: /svelte[\\/]src[\\/](?:.*custom-element|.*bindings|legacy)/, sideEffects: false }],
      },
      output: {
        // One file for all that Now needs: every further file is a further request before the first paint.
        // What Svelte needs for fields comes with the pages that have some.
        codeSplitting: {
          groups: [
            {
              name: 'fields',
              test: /svelte[\\/]src[\\/].*[\\/]bindings[\\/](?:select|input|size)\.js/,
              priority: 2,
              includeDependenciesRecursively: false,
            },
            { name: 'app', tags: ['$initial'], includeDependenciesRecursively: false },
          ],
        },
      },
    },
  },
});
