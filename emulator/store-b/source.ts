import type { Books } from './books.ts';
import type { Keys } from './keys.ts';

/** What the answers of the store are made from. */
export interface Source {
  readonly books: Books;
  readonly keys: Keys;
  readonly now: () => number;
}
