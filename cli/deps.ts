import type { Deps } from '../composition/deps.ts';

let loaded: (() => Deps) | undefined;

/** Loads the dependencies of the commands. Help and errors of usage need none, and their code takes most of a start. */
export async function loadDeps(): Promise<void> {
  loaded ??= (await import('../composition/deps.ts')).deps;
}

/** Returns the dependencies. `loadDeps` must have loaded them, before the action of the command. */
export function deps(): Deps {
  if (!loaded) throw new Error('The dependencies are not loaded.');
  return loaded();
}
