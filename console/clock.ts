import { createObservable } from './store.ts';

/** URL of the store emulator. Undefined in a deployment. */
export const emulatorUrl = readEmulatorUrl();

/** Distance of the service's clock from the browser's. Other than 0 only if the clock of the emulator was moved. */
const offsetMs = createObservable(0);

/** Time of the service. */
export const getNow = (): number => Date.now() + offsetMs.get();

/** Returns the time of the service at the latest rendering, and renders again if the clock was moved. */
export const useNow = (): number => Date.now() + offsetMs.use();

/** Sets the time of the service, which the emulator returns. */
export function setClock(now: string): void {
  const offset = Date.parse(now) - Date.now();
  // Smaller differences come from the duration of the request, and pages need no new rendering for them.
  if (Math.abs(offset - offsetMs.get()) > 2_000) offsetMs.set(offset);
}

/** Reads the clock of the emulator, which is also the clock of the local service. */
export async function readEmulatorClock(): Promise<void> {
  if (emulatorUrl === undefined) return;
  const response = await fetch(`${emulatorUrl}/control/clock`);
  const { now } = (await response.json()) as { readonly now: string };
  setClock(now);
}

function readEmulatorUrl(): string | undefined {
  const content = document.querySelector<HTMLMetaElement>('meta[name="emulator-url"]')?.content;
  return content === '' ? undefined : content;
}
