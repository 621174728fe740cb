import type { Asking } from '../store.ts';
import { usualMs } from './play.ts';

/** For a validation and for what follows it, so that the client still hears of both. */
const togetherMs = 18_000;

const ends = new WeakMap<Asking, number>();

/** Starts the clock of a validation. */
export const startClock = (asking: Asking): void => {
  ends.set(asking, performance.now() + togetherMs);
};

/** How long Google may still be asked after that validation. */
export const timeLeftMs = (asking: Asking): number =>
  Math.min(usualMs, (ends.get(asking) ?? Number.POSITIVE_INFINITY) - performance.now());
