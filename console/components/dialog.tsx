import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useAction } from '../api/use-api.ts';
import { announceResult } from './announcer.tsx';
import { Button, type ButtonProps } from './button.tsx';
import type { IconName } from './icon.tsx';
import { ErrorNotice } from './notice.tsx';

interface DialogProps {
  readonly title: string;
  /** An action is in progress: Escape does not close the dialog, which shows an error of the action. */
  readonly isBusy?: boolean;
  readonly size?: 'normal' | 'large';
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/**
 * A modal dialog. The browser keeps the focus inside, and Escape closes it. The element that opened it has the focus
 * again.
 */
export function Dialog({ title, isBusy = false, size = 'normal', onClose, children }: DialogProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key, which the dialog receives.
  useLayoutEffect(() => {
    const { current } = dialog;
    const opener = document.activeElement;
    current?.showModal();
    return () => {
      current?.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog dialog-${size}`}
      aria-labelledby={id}
      onCancel={(event) => isBusy && event.preventDefault()}
      onClose={onClose}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

interface DialogButtonProps extends Omit<ButtonProps, 'onClick' | 'opensDialog'> {
  readonly render: (onClose: () => void) => ComponentChildren;
}

/** A button that opens a dialog. */
export function DialogButton({ render, ...button }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button {...button} opensDialog onClick={() => setOpen(true)} />
      {isOpen && render(() => setOpen(false))}
    </>
  );
}

interface ConfirmButtonProps {
  readonly label: string;
  readonly icon?: IconName;
  readonly kind?: 'normal' | 'danger';
  /** Title of the dialog: a question. */
  readonly question: string;
  /** What happens, and whether it can be undone. */
  readonly consequence: ComponentChildren;
  /** Announced after the action has succeeded. */
  readonly done: string;
  readonly onConfirm: () => Promise<unknown>;
}

/**
 * A button that performs an action after the user has confirmed it in a dialog. The dialog shows an error of the
 * action.
 */
export const ConfirmButton = ({ icon, kind = 'normal', ...props }: ConfirmButtonProps) => (
  <DialogButton
    {...(icon && { icon })}
    kind={kind}
    render={(onClose) => <ConfirmDialog {...props} kind={kind} onClose={onClose} />}
  >
    {props.label}
  </DialogButton>
);

function ConfirmDialog(props: ConfirmButtonProps & { readonly onClose: () => void }) {
  const { label, kind, question, consequence, done, onConfirm, onClose } = props;
  const { run, isRunning, error } = useAction(async () => {
    await onConfirm();
    onClose();
    announceResult(done);
  });
  return (
    <Dialog title={question} isBusy={isRunning} onClose={onClose}>
      <div class="dialog-body">{consequence}</div>
      <ErrorNotice error={error} />
      <div class="dialog-actions">
        <Button onClick={onClose} isDisabled={isRunning}>
          Cancel
        </Button>
        <Button onClick={run} kind={kind === 'danger' ? 'danger' : 'primary'} isBusy={isRunning}>
          {label}
        </Button>
      </div>
    </Dialog>
  );
}
