/** esbuild bundles the styles of a page with its script. */
declare module '*.css';
