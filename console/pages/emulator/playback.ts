import { moveClock } from '../../api/emulator.ts';
import { getNow } from '../../clock.ts';
import { getSession } from '../../session.ts';
import { createObservable } from '../../store.ts';

/** A year that passes in steps. It continues while the user is on another page, and ends when the user signs out. */
interface Playback {
  /** Share of the year that has passed, from 0 to 1. */
  readonly progress: number;
  readonly isPlaying: boolean;
  readonly error?: unknown;
}

const dayMs = 86_400_000;
const yearMs = 365 * dayMs;
/** A week for each step: no renewal of a weekly subscription is skipped. */
const steps = 52;
/** 52 s for the year. The service processes each step before the next one. */
const stepDurationMs = 1_000;

const playback = createObservable<Playback>({ progress: 0, isPlaying: false });

export const usePlayback = (): Playback => playback.use();

/** Ends the year early. */
export const stopPlayback = (): void => playback.set({ ...playback.get(), isPlaying: false });

/** Moves the clock forward by a year within a minute. Stops at the first error. */
export async function advanceYear(): Promise<void> {
  if (playback.get().isPlaying) return;
  const start = getNow();
  playback.set({ progress: 0, isPlaying: true });
  for (let step = 1; step <= steps && playback.get().isPlaying && getSession(); step += 1) {
    const stepEnd = performance.now() + stepDurationMs;
    try {
      await moveClock({ set: new Date(Math.max(start + (step / steps) * yearMs, getNow())).toISOString() });
    } catch (error) {
      playback.set({ ...playback.get(), isPlaying: false, error });
      return;
    }
    playback.set({ ...playback.get(), progress: step / steps });
    if (step < steps) await sleep(stepEnd - performance.now());
  }
  stopPlayback();
}

const sleep = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
