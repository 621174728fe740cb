import { useEffect, useState } from 'preact/hooks';
import { describeError } from './api/api-error.ts';
import { readEmulatorClock } from './clock.ts';
import { Announcer } from './components/announcer.tsx';
import { LinkDialog } from './link-dialog.tsx';
import { useLocation } from './router.tsx';
import { recordScrollPositions } from './scroll-position.ts';
import {
  getSession,
  refreshSessions,
  selectApp,
  startSession,
  takeCredentialsFromUrl,
  useSession,
  useSessions,
} from './session.ts';
import type { Session } from './session-storage.ts';
import { Shell } from './shell.tsx';
import { SignInPage } from './sign-in.tsx';
import { verifyCredentials } from './verify-credentials.ts';
import { applyTextRules } from './visible-text.ts';

applyTextRules();

// Before the first rendering, so that the key is in the address bar as briefly as possible.
const linkedCredentials = takeCredentialsFromUrl();

recordScrollPositions();

const expiryCheckMs = 30_000;

/** The console: the sign-in page, or the pages with their navigation. */
export function App() {
  const session = useSession();
  const { query } = useLocation();
  const [credentials, setCredentials] = useState(linkedCredentials);
  const [linked, setLinked] = useState<Session | undefined>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    // A missing emulator must not keep the console from working: its clock is the browser's then.
    readEmulatorClock().catch(() => {});
    const signInAgain = () => {
      const next = takeCredentialsFromUrl();
      if (next) setCredentials(next);
    };
    // Another tab has signed in or out, or a session has expired.
    const timer = setInterval(refreshSessions, expiryCheckMs);
    addEventListener('hashchange', signInAgain);
    addEventListener('storage', refreshSessions);
    // A link that was opened after the module ran and before the listener was registered.
    signInAgain();
    return () => {
      clearInterval(timer);
      removeEventListener('hashchange', signInAgain);
      removeEventListener('storage', refreshSessions);
    };
  }, []);
  useEffect(() => {
    if (session) setError(undefined);
  }, [session]);
  useEffect(() => {
    if (!credentials) return;
    setError(undefined);
    verifyCredentials(credentials)
      .then((verified) => {
        const current = getSession();
        if (!current || (current.appName === verified.appName && current.key === verified.key)) startSession(verified);
        else setLinked(verified);
      }, setError)
      .finally(() => setCredentials(undefined));
  }, [credentials]);
  const { app } = query;
  const isOtherApp = app !== undefined && app !== session?.appName;
  const canSelect = useSessions().some(({ appName }) => appName === app);
  useEffect(() => {
    if (app !== undefined && isOtherApp) selectApp(app);
  }, [app, isOtherApp]);
  return (
    <>
      <Announcer />
      {session && !credentials && !isOtherApp ? (
        <Shell
          key={session.appName}
          session={session}
          linkError={error === undefined ? undefined : describeError(error).problem}
        />
      ) : (
        !(isOtherApp && canSelect) && (
          <SignInPage
            isVerifying={credentials !== undefined}
            linkError={error}
            linked={credentials ?? { appName: app ?? '', key: '' }}
          />
        )
      )}
      {linked && session && <LinkDialog current={session} linked={linked} onClose={() => setLinked(undefined)} />}
    </>
  );
}
