const hourMs = 3_600_000;

/** How long a session lasts. A session of the tab is not shared with other tabs. */
export const stays = [
  { id: 'tab', label: 'In this tab only' },
  { id: '8h', label: 'For 8 hours in this browser', ms: 8 * hourMs },
  { id: '30d', label: 'For 30 days in this browser', ms: 30 * 24 * hourMs },
] as const;

export type StayId = (typeof stays)[number]['id'];

export interface Credentials {
  readonly appName: string;
  readonly key: string;
}

export interface Session extends Credentials {
  /** Name that the operator gave the key. */
  readonly keyName: string;
  /**
   * A viewer key reads everything and changes nothing. A support key also makes grants, links, refreshes and replays.
   */
  readonly level: 'secret' | 'viewer' | 'support';
}

/** Session of an app, which ends after some time or with the tab. */
export interface StoredSession extends Session {
  readonly stay: StayId;
  /** Epoch milliseconds. Absent for a session of the tab. */
  readonly expiresAt?: number;
}

const storageKey = 'claimcheck.sessions';

/** Returns the sessions that have not ended, one of each app. The tab's sessions take precedence. */
export function readSessions(): readonly StoredSession[] {
  const stored = [...read(sessionStorage), ...read(localStorage)].filter(
    // The time of the browser: the emulator can move the clock of the service.
    ({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt > Date.now(),
  );
  return stored.filter(({ appName }, index) => stored.findIndex((other) => other.appName === appName) === index);
}

/** Stores the session of an app instead of its former one. */
export function storeSession(session: Session, stay: StayId): void {
  removeSessions(session.appName);
  const found = stays.find(({ id }) => id === stay);
  const storage = found && 'ms' in found ? localStorage : sessionStorage;
  const expiresAt = found && 'ms' in found ? { expiresAt: Date.now() + found.ms } : {};
  write(storage, [...read(storage), { ...session, stay, ...expiresAt }]);
}

/** Deletes the session of an app, or of all apps. */
export function removeSessions(appName?: string): void {
  for (const storage of [sessionStorage, localStorage])
    write(storage, appName === undefined ? [] : read(storage).filter((session) => session.appName !== appName));
}

function read(storage: Storage): readonly StoredSession[] {
  try {
    return JSON.parse(storage.getItem(storageKey) ?? '[]') as readonly StoredSession[];
  } catch {
    return [];
  }
}

function write(storage: Storage, sessions: readonly StoredSession[]): void {
  if (sessions.length === 0) storage.removeItem(storageKey);
  else storage.setItem(storageKey, JSON.stringify(sessions));
}
