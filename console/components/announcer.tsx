import { useEffect } from 'preact/hooks';
import { createObservable } from '../store.ts';

const announcement = createObservable('');

/** The result of an action. A new object is a new result, also with the same text. */
const result = createObservable<{ readonly text: string } | undefined>(undefined);

/** Announces a text to screen readers, for example the title of a new page. */
export const announce = (text: string): void => announcement.set(text);

/** Shows the result of an action for some seconds, and announces it. */
export const announceResult = (text: string): void => result.set({ text });

const resultMs = 8_000;

/** The live regions of the console: one for screen readers only, and one for results. */
export function Announcer() {
  const current = result.use();
  useEffect(() => {
    if (!current) return;
    const timer = setTimeout(() => result.set(undefined), resultMs);
    return () => clearTimeout(timer);
  }, [current]);
  return (
    <>
      <output class="visually-hidden" aria-live="polite">
        {announcement.use()}
      </output>
      <output class={current ? 'toast' : 'visually-hidden'} aria-live="polite">
        {current?.text}
      </output>
    </>
  );
}
