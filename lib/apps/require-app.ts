import { ServiceError } from '../foundation/errors.ts';
import type { App } from './app.ts';

/** Returns the app that was read, which can be deleted. Throws `AppNotFound`. */
export function requireStoredApp(name: string, app: App | undefined): App {
  if (!app) throw new ServiceError('AppNotFound', `The app ${name} is not found.`);
  return app;
}

/** Returns the app that was read. Throws `AppNotFound`, also for a deleted app. */
export function requireApp(name: string, app: App | undefined): App {
  const stored = requireStoredApp(name, app);
  if (stored.deletedAt !== undefined) throw new ServiceError('AppNotFound', `The app ${name} is deleted.`);
  return stored;
}
