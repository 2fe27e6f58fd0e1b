import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

/** The dashboard, built into `dist/web` and served by `fairlead serve`. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [svelte()],
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // We make no custom elements; Svelte does not say that the module for them does nothing by itself.
      treeshake: {
        moduleSideEffects: [{ test: /svelte[\\/]src[\\/](?:.*custom-element|legacy)/, sideEffects: false }],
      },
      output: {
        // One file for all that Now needs: every further file is a further request before the first paint.
        codeSplitting: { groups: [{ name: 'app', tags: ['$initial'], includeDependenciesRecursively: false }] },
      },
    },
  },
});
