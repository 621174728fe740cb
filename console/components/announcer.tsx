import { createObservable } from '../store.ts';

const announcement = createObservable('');

/** Announces a text to screen readers, for example the result of an action. */
export const announce = (text: string): void => announcement.set(text);

/** The live region of the console. */
export const Announcer = () => (
  <output class="visually-hidden" aria-live="polite">
    {announcement.use()}
  </output>
);
