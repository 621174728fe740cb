import { Button } from './components/button.tsx';
import { Dialog } from './components/dialog.tsx';
import { startSession } from './session.ts';
import type { Session } from './session-storage.ts';

interface LinkDialogProps {
  readonly current: Session;
  /** The verified session of the link. */
  readonly linked: Session;
  readonly onClose: () => void;
}

/** Confirms that a link may change the app or the key of the session. */
export const LinkDialog = ({ current, linked, onClose }: LinkDialogProps) => {
  const isSameApp = current.appName === linked.appName;
  const open = () => {
    startSession(linked);
    onClose();
  };
  return (
    <Dialog title={isSameApp ? 'Replace your key?' : `Open ${linked.appName}?`} onClose={onClose}>
      <div class="dialog-body">
        {isSameApp
          ? `The link has another key of ${linked.appName}: ${linked.level === 'secret' ? 'the secret key' : `a ${linked.level} key`}.`
          : `The link signs you in to the app ${linked.appName}. You stay signed in to ${current.appName}, too.`}{' '}
        Accept links only from people you trust.
      </div>
      <div class="dialog-actions">
        <Button onClick={onClose}>Stay in {current.appName}</Button>
        <Button kind="primary" onClick={open}>
          {isSameApp ? 'Replace the key' : `Open ${linked.appName}`}
        </Button>
      </div>
    </Dialog>
  );
};
