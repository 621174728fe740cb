import { useState } from 'preact/hooks';
import type { PurchaseDetails } from '../../../lib/purchases/purchase-contract.ts';
import { callApi } from '../../api/client.ts';
import { useAction } from '../../api/use-api.ts';
import { getNow } from '../../clock.ts';
import { announceResult } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogButton } from '../../components/dialog.tsx';
import { Form, TextField } from '../../components/fields.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { formatPlatform, formatProductId } from '../../format.ts';
import { describePurchase } from '../purchase/describe-purchase.ts';
import { purchaseEndpoints } from '../purchase/purchase-endpoints.ts';
import { PurchaseState } from '../purchase/purchase-state.tsx';

interface LinkPurchaseButtonProps {
  readonly user: string;
  readonly onDone: () => void;
}

/** Links a purchase to a customer, after the user has seen the purchase and its current owners. */
export const LinkPurchaseButton = (props: LinkPurchaseButtonProps) => (
  <DialogButton icon="purchases" render={(onClose) => <LinkPurchaseDialog {...props} onClose={onClose} />}>
    Link a purchase
  </DialogButton>
);

function LinkPurchaseDialog({ user, onDone, onClose }: LinkPurchaseButtonProps & { readonly onClose: () => void }) {
  const [id, setId] = useState('');
  const [purchase, setPurchase] = useState<PurchaseDetails | undefined>();
  const find = useAction(async () => {
    setPurchase(await callApi(purchaseEndpoints.getPurchase, { params: { purchaseId: id.trim() } }));
  });
  const link = useAction(async ({ purchaseId }: PurchaseDetails) => {
    await callApi(purchaseEndpoints.addCustomerPurchase, {
      params: { applicationUsername: user },
      body: { purchaseId },
    });
    announceResult(`The purchase is linked to ${user}.`);
    onDone();
    onClose();
  });
  return (
    <Dialog title={purchase ? `Link this purchase to ${user}?` : `Link a purchase to ${user}`} onClose={onClose}>
      <Form label="Link a purchase" onSubmit={() => (purchase ? link.run(purchase) : find.run())}>
        {purchase ? (
          <div class="dialog-body">
            <p>
              <strong>{formatProductId(purchase.productId)}</strong>, {formatPlatform(purchase.platform)}
            </p>
            <PurchaseState description={describePurchase(purchase, { now: getNow() })} />
            <p>{describeConsequence(purchase.entitledUsers, user)}</p>
          </div>
        ) : (
          <TextField
            label="Purchase id"
            value={id}
            onInput={setId}
            hint="With the prefix of its store, such as store_a:410000000000001"
            isRequired
          />
        )}
        <ErrorNotice error={purchase ? link.error : find.error} />
        <div class="dialog-actions">
          <Button onClick={onClose} isDisabled={link.isRunning}>
            Cancel
          </Button>
          <Button type="submit" kind="primary" isBusy={find.isRunning || link.isRunning}>
            {purchase ? 'Link' : 'Find'}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

function describeConsequence(owners: readonly string[], user: string): string {
  const others = owners.filter((owner) => owner !== user);
  const consequence = `A manual link takes precedence over all other claims: only ${user} owns the purchase then.`;
  if (others.length === 0) return consequence;
  const names =
    others.length > 3 ? `${others.slice(0, 3).join(', ')} and ${others.length - 3} more` : others.join(', ');
  return `${consequence} ${names} will lose it, until it is linked again.`;
}
