import type { Service } from '../lib/foundation/service.ts';

let loaded: (() => Service) | undefined;

/** Loads the service record of the commands. Help and errors of usage need none, and its code takes most of a start. */
export async function loadService(): Promise<void> {
  loaded ??= (await import('../lib/foundation/get-service.ts')).getService;
}

/** Returns the service record. `loadService` must have loaded it, before the action of the command. */
export function getService(): Service {
  if (!loaded) throw new Error('The service is not loaded.');
  return loaded();
}
