import { createObservable } from './store.ts';

export interface Credentials {
  readonly appName: string;
  readonly key: string;
}

export interface Session extends Credentials {
  /** Name that the operator gave the key. */
  readonly keyName: string;
  /** A viewer key reads everything and changes nothing. */
  readonly level: 'secret' | 'viewer';
}

/** Storage of the tab: deleted with it, and not shared with other tabs. */
const storageKey = 'claimcheck.session';

const session = createObservable<Session | undefined>(readStoredSession());

/** Whether the service ended the session because it rejected the key. */
const isRejected = createObservable(false);

export const useIsRejected = (): boolean => isRejected.use();

export const getSession = (): Session | undefined => session.get();
export const useSession = (): Session | undefined => session.use();

/** Whether the key of the session may change data. Pages offer changes only if it may. */
export const useCanChange = (): boolean => useSession()?.level === 'secret';

export function startSession(value: Session): void {
  sessionStorage.setItem(storageKey, JSON.stringify(value));
  isRejected.set(false);
  session.set(value);
}

/** Signs out: deletes the key from the tab. */
export function endSession(): void {
  sessionStorage.removeItem(storageKey);
  isRejected.set(false);
  session.set(undefined);
}

/** Ends the session after the service has rejected the key. The sign-in page states the reason. */
export function rejectSession(): void {
  endSession();
  isRejected.set(true);
}

function readStoredSession(): Session | undefined {
  const stored = sessionStorage.getItem(storageKey);
  return stored === null ? undefined : (JSON.parse(stored) as Session);
}

/**
 * Reads `#app=…&key=…`, the fragment of a link that signs in, and removes it from the address bar and the history.
 * `&page=…` is the page to open, such as `/customers/alice`.
 */
export function takeCredentialsFromUrl(): Credentials | undefined {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const [appName, key] = [fragment.get('app'), fragment.get('key')];
  if (!location.hash.startsWith('#app=') || appName === null || key === null) return undefined;
  const page = fragment.get('page') ?? '';
  history.replaceState(null, '', `${location.pathname}${location.search}#${page.startsWith('/') ? page : '/'}`);
  return { appName, key };
}
