import { useEffect, useState } from 'preact/hooks';
import { readEmulatorClock } from './clock.ts';
import { Announcer } from './components/announcer.tsx';
import { endSession, startSession, takeCredentialsFromUrl, useSession } from './session.ts';
import { Shell } from './shell.tsx';
import { SignInPage } from './sign-in.tsx';
import { verifyCredentials } from './verify-credentials.ts';
import { showHiddenCharacters } from './visible-text.ts';

showHiddenCharacters();

// Before the first rendering, so that the key is in the address bar as briefly as possible.
const linkedCredentials = takeCredentialsFromUrl();
if (linkedCredentials) endSession();

/** The console: the sign-in page, or the pages with their navigation. */
export function App() {
  const session = useSession();
  const [credentials, setCredentials] = useState(linkedCredentials);
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    // A missing emulator must not keep the console from working: its clock is the browser's then.
    readEmulatorClock().catch(() => {});
    const signInAgain = () => {
      const next = takeCredentialsFromUrl();
      if (next) setCredentials(next);
    };
    addEventListener('hashchange', signInAgain);
    // A link that was opened after the module ran and before the listener was registered.
    signInAgain();
    return () => removeEventListener('hashchange', signInAgain);
  }, []);
  useEffect(() => {
    if (session) setError(undefined);
  }, [session]);
  useEffect(() => {
    if (!credentials) return;
    endSession();
    setError(undefined);
    verifyCredentials(credentials)
      .then(startSession, setError)
      .finally(() => setCredentials(undefined));
  }, [credentials]);
  return (
    <>
      <Announcer />
      {session ? <Shell session={session} /> : <SignInPage isVerifying={credentials !== undefined} linkError={error} />}
    </>
  );
}
