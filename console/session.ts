import {
  type Credentials,
  readSessions,
  removeSessions,
  type Session,
  type StayId,
  type StoredSession,
  storeSession,
} from './session-storage.ts';
import { createObservable } from './store.ts';

/** App of this tab, and the app that was used last in the browser. */
const appStorageKey = 'claimcheck.app';

const sessions = createObservable<readonly StoredSession[]>(readSessions());
const session = createObservable<StoredSession | undefined>(findInitialSession());

/** True after the service has ended the session because it rejected the key. */
const isRejected = createObservable(false);

export const useIsRejected = (): boolean => isRejected.use();

export const getSession = (): Session | undefined => session.get();
export const useSession = (): StoredSession | undefined => session.use();
/** All apps to which the user is signed in. */
export const useSessions = (): readonly StoredSession[] => sessions.use();

/** Returns whether the key of the session can change data. Pages offer changes only if it can. */
export const useCanChange = (): boolean => useSession()?.level === 'secret';

/** Returns whether the key of the session can make grants, links, refreshes, replays and statements about refunds. */
export function useCanSupport(): boolean {
  const level = useSession()?.level;
  return level === 'secret' || level === 'support';
}

/** Signs in to an app in addition to the others, and selects it. */
export function startSession(value: Session, stay: StayId = 'tab'): void {
  storeSession(value, stay);
  sessions.set(readSessions());
  selectApp(value.appName);
}

/** Selects another app. Returns false if the user is not signed in to it. */
export function selectApp(appName: string): boolean {
  const selected = sessions.get().find((candidate) => candidate.appName === appName);
  if (!selected) return false;
  sessionStorage.setItem(appStorageKey, appName);
  localStorage.setItem(appStorageKey, appName);
  isRejected.set(false);
  session.set(selected);
  return true;
}

/** Signs out of all apps: deletes the keys from the browser. */
export function endSession(): void {
  removeSessions();
  sessionStorage.clear();
  localStorage.removeItem(appStorageKey);
  isRejected.set(false);
  sessions.set([]);
  session.set(undefined);
}

/** Ends the session of the app after the service has rejected its key. The sign-in page states the reason. */
export function rejectSession(): void {
  const rejected = session.get();
  if (!rejected) return;
  removeSessions(rejected.appName);
  sessionStorage.removeItem(appStorageKey);
  sessions.set(readSessions());
  session.set(undefined);
  isRejected.set(true);
}

/** Reads the sessions again: another tab has changed them, or one has ended. */
export function refreshSessions(): void {
  const stored = readSessions();
  if (JSON.stringify(stored) === JSON.stringify(sessions.get())) return;
  sessions.set(stored);
  const current = session.get();
  session.set(current ? stored.find(({ appName }) => appName === current.appName) : findInitialSession());
}

/** Returns the app that links must name, because the user is signed in to several. */
export const getLinkApp = (): string | undefined => (sessions.get().length > 1 ? session.get()?.appName : undefined);

function findInitialSession(): StoredSession | undefined {
  const stored = readSessions();
  const appName = sessionStorage.getItem(appStorageKey) ?? localStorage.getItem(appStorageKey);
  return stored.find((candidate) => candidate.appName === appName) ?? stored[0];
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
  history.replaceState(
    history.state,
    '',
    `${location.pathname}${location.search}#${page.startsWith('/') ? page : '/'}`,
  );
  return { appName, key };
}
