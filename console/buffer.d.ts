/** Schemas of the contracts, which the console imports as types only, use `Buffer` of Node.js. */
declare const Buffer: {
  from(text: string, encoding?: string): { toString(encoding: string): string };
};
