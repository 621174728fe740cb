import { useEffect, useState } from 'preact/hooks';
import { useAction } from './api/use-api.ts';
import { Button } from './components/button.tsx';
import { Form, TextField } from './components/fields.tsx';
import { ErrorNotice, Notice } from './components/notice.tsx';
import { startSession, useIsRejected } from './session.ts';
import { verifyCredentials } from './verify-credentials.ts';

interface SignInPageProps {
  /** Whether the credentials of a link are being verified. */
  readonly isVerifying: boolean;
  /** Error of the credentials of a link. */
  readonly linkError: unknown;
}

/** Signs in with the app name and a key. */
export function SignInPage({ isVerifying, linkError }: SignInPageProps) {
  const [appName, setAppName] = useState('');
  const [key, setKey] = useState('');
  const { run, isRunning, error } = useAction(async () => startSession(await verifyCredentials({ appName, key })));
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
          A viewer key reads everything and changes nothing. The secret key can also link, refresh and replay. The key
          stays in this tab until you sign out or close it.
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
            hint="Begins with view_ or sec_"
            isRequired
          />
          <ErrorNotice error={error ?? linkError} />
          <Button type="submit" kind="primary" isBusy={isRunning || isVerifying}>
            {isRunning || isVerifying ? 'Signing in…' : 'Sign in'}
          </Button>
        </Form>
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
