import { useEffect, useState } from 'preact/hooks';
import { useAction } from './api/use-api.ts';
import { Button } from './components/button.tsx';
import { Form, SelectField, TextField } from './components/fields.tsx';
import { ErrorNotice, Notice } from './components/notice.tsx';
import { changeQuery } from './router.tsx';
import { selectApp, startSession, useIsRejected, useSessions } from './session.ts';
import { type Credentials, type StayId, stays } from './session-storage.ts';
import { verifyCredentials } from './verify-credentials.ts';

interface SignInPageProps {
  /** The credentials of a link are being verified. */
  readonly isVerifying: boolean;
  /** Error of the credentials of a link. */
  readonly linkError: unknown;
  /** App and key of the link. They stay in the form if the service does not respond. */
  readonly linked: Credentials;
}

/** Signs in with the app name and a key. */
export function SignInPage({ isVerifying, linkError, linked }: SignInPageProps) {
  const [appName, setAppName] = useState(linked.appName === '+' ? '' : linked.appName);
  const [key, setKey] = useState(linked.key);
  const [stay, setStay] = useState<StayId>('8h');
  const { run, isRunning, error } = useAction(async () => {
    const session = await verifyCredentials({ appName, key });
    changeQuery({ app: '' }, { isReplacing: true });
    startSession(session, stay);
  });
  const others = useSessions();
  const isRejected = useIsRejected();
  useEffect(() => {
    document.title = 'Sign in · Claimcheck';
  }, []);
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <p class="brand">
          <BrandMark /> Claimcheck
        </p>
        <h1>Sign in</h1>
        <p class="quiet">
          A viewer key reads everything and changes nothing. A support key also grants, links, refreshes and replays,
          and the secret key changes everything.
        </p>
        {isRejected && (
          <Notice tone="warn" icon="alert">
            The service has rejected the key: it was revoked or replaced, or it has expired. Sign in with another key.
          </Notice>
        )}
        <Form label="Sign in" onSubmit={run}>
          <TextField label="App name" value={appName} onInput={setAppName} autoComplete="username" isRequired />
          <TextField
            label="Key"
            type="password"
            value={key}
            onInput={setKey}
            autoComplete="current-password"
            hint="Begins with view_, sup_ or sec_"
            isRequired
          />
          <SelectField
            label="Stay signed in"
            value={stay}
            options={stays.map(({ id, label }) => [id, label] as const)}
            onChange={setStay}
          />
          <ErrorNotice error={error ?? linkError} />
          <Button type="submit" kind="primary" isBusy={isRunning || isVerifying}>
            {isRunning || isVerifying ? 'Signing in…' : 'Sign in'}
          </Button>
        </Form>
        {others.map((session) => (
          <Button
            key={session.appName}
            kind="quiet"
            onClick={() => {
              changeQuery({ app: '' }, { isReplacing: true });
              selectApp(session.appName);
            }}
          >
            Go on in {session.appName}
          </Button>
        ))}
      </div>
    </main>
  );
}

/** The logo. */
export const BrandMark = () => (
  <svg class="brand-mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="8" />
    <path d="m9 16.500 5 5 9-11" />
  </svg>
);
