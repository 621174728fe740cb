import { useState } from 'preact/hooks';
import type { PurchaseAction } from '../../../lib/actions/contract.ts';
import type { PurchaseDetails } from '../../../lib/purchases/purchase-contract.ts';
import { callApi } from '../../api/client.ts';
import { useAction } from '../../api/use-api.ts';
import { announceResult } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogButton } from '../../components/dialog.tsx';
import { Form, TextField } from '../../components/fields.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { formatMoney, formatProductId } from '../../format.ts';
import { purchaseEndpoints } from './purchase-endpoints.ts';

export const actionLabels: Readonly<Record<PurchaseAction['action'], string>> = {
  refund: 'Refund',
  cancel: 'Cancel the renewal',
  revoke: 'Revoke the access',
  defer: 'Extend',
  extend: 'Extend',
  finish: 'Finish the transaction',
  'set-account': 'Set the account',
};

const microsPerUnit = 1_000_000;

interface ActionButtonProps {
  readonly action: PurchaseAction;
  readonly purchase: PurchaseDetails;
  readonly onDone: () => void;
}

/** Performs an action at the store after a confirmation, which names the amount and the customer. */
export const ActionButton = (props: ActionButtonProps) => (
  <DialogButton render={(onClose) => <ActionDialog {...props} onClose={onClose} />}>
    {actionLabels[props.action.action]}
  </DialogButton>
);

function ActionDialog({ action, purchase, onDone, onClose }: ActionButtonProps & { readonly onClose: () => void }) {
  const { action: name, effect, maxDays, payment } = action;
  const [reason, setReason] = useState('');
  const [amount, setAmount] = useState('');
  const [days, setDays] = useState('');
  const [account, setAccount] = useState('');
  // One key for all attempts, so that the store performs the action once.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const label = actionLabels[name];
  const { run, isRunning, error } = useAction(async () => {
    const body = {
      action: name,
      reason,
      idempotencyKey,
      ...(payment && { transactionId: payment.transactionId }),
      ...(amount !== '' && { amountMicros: Math.round(Number(amount) * microsPerUnit) }),
      ...(maxDays !== undefined && { days: Number(days) }),
      ...(name === 'set-account' && { account }),
    };
    const { purchaseId } = purchase;
    const { isConfirmed } = await callApi(purchaseEndpoints.actOnPurchase, { params: { purchaseId }, body });
    announceResult(
      isConfirmed === false ? `${label}: the store has accepted it.` : `${label}: the store has performed it.`,
    );
    onDone();
    onClose();
  });
  return (
    <Dialog title={buildQuestion(action, purchase, amount)} isBusy={isRunning} onClose={onClose}>
      <div class="dialog-body">{effect}</div>
      <Form label={label} onSubmit={run}>
        {payment?.allowsPart && payment.currency !== null && (
          <TextField
            label={`Amount in ${payment.currency}`}
            value={amount}
            onInput={setAmount}
            hint="Empty: all that is left of the payment"
          />
        )}
        {maxDays !== undefined && (
          <TextField label={`Days, 1 to ${maxDays}`} type="number" value={days} onInput={setDays} isRequired />
        )}
        {name === 'set-account' && (
          <TextField label="Username of the customer" value={account} onInput={setAccount} isRequired />
        )}
        <TextField label="Reason" value={reason} onInput={setReason} hint="Stays in the log of events" isRequired />
        <ErrorNotice error={error} />
        <div class="dialog-actions">
          <Button onClick={onClose} isDisabled={isRunning}>
            Back
          </Button>
          <Button type="submit" kind="danger" isBusy={isRunning}>
            Confirm
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

/** Names the amount, the product and the customers. */
function buildQuestion({ action, payment }: PurchaseAction, purchase: PurchaseDetails, amount: string): string {
  const customers = purchase.entitledUsers.join(', ') || 'no customer';
  const product = formatProductId(purchase.productId);
  if (action !== 'refund') return `${actionLabels[action]}: ${product} of ${customers}?`;
  const micros = amount === '' ? payment?.amountMicros : Math.round(Number(amount) * microsPerUnit);
  const money =
    micros != null && payment?.currency && Number.isFinite(micros)
      ? formatMoney(micros, payment.currency)
      : 'the payment';
  return `Refund ${money} for ${product} to ${customers}?`;
}
