import type { ComponentChildren } from 'preact';
import { useAction } from '../api/use-api.ts';
import { announceResult } from './announcer.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Form } from './fields.tsx';
import { ErrorNotice } from './notice.tsx';

interface FormDialogProps {
  readonly title: string;
  /** Name of the form for screen readers. */
  readonly formLabel: string;
  readonly submitLabel: string;
  /** Performs the change, and returns the text of its result. */
  readonly perform: () => Promise<string>;
  /** Shows the next step of the form instead of the change. */
  readonly onContinue?: () => void;
  /** Called after the change has succeeded. */
  readonly onDone: () => void;
  readonly onClose: () => void;
  /** Fields of the form. */
  readonly children: ComponentChildren;
}

/** A dialog with a form that performs a change. It shows an error of the change, and closes after its success. */
export function FormDialog(props: FormDialogProps) {
  const { title, formLabel, submitLabel, perform, onContinue, onDone, onClose, children } = props;
  const { run, isRunning, error } = useAction(async () => {
    const result = await perform();
    announceResult(result);
    onDone();
    onClose();
  });
  return (
    <Dialog title={title} isBusy={isRunning} onClose={onClose}>
      <Form label={formLabel} onSubmit={onContinue ?? run}>
        {children}
        <ErrorNotice error={error} />
        <div class="dialog-actions">
          <Button onClick={onClose} isDisabled={isRunning}>
            Cancel
          </Button>
          <Button type="submit" kind="primary" isBusy={isRunning}>
            {submitLabel}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
