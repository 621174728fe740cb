import { useState } from 'preact/hooks';
import type { mergeCustomer } from '../../../lib/customers/claim-contract.ts';
import { callApi, defineEndpoint } from '../../api/client.ts';
import { useAction } from '../../api/use-api.ts';
import { announceResult } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogButton } from '../../components/dialog.tsx';
import { Form, TextField } from '../../components/fields.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { formatNumber, formatPlatform, formatProductId } from '../../format.ts';
import { getSession } from '../../session.ts';
import { purchaseEndpoints } from '../purchase/purchase-endpoints.ts';
import { entitlementEndpoints } from './entitlement-endpoints.ts';

const mergeCustomerEndpoint = defineEndpoint<typeof mergeCustomer>('POST', '/v3/customers/:applicationUsername/merge');

interface MergeButtonProps {
  readonly user: string;
  readonly onDone: () => void;
}

/** Merges another customer into this one, after the user has seen what moves. */
export const MergeButton = (props: MergeButtonProps) => (
  <DialogButton icon="customers" render={(onClose) => <MergeDialog {...props} onClose={onClose} />}>
    Merge a customer
  </DialogButton>
);

interface Preview {
  readonly from: string;
  readonly products: readonly string[];
  /** The customer claims more purchases than the listed ones. */
  readonly hasMore: boolean;
  readonly grants: readonly string[];
}

/** Claims of the preview. */
const previewSize = 100;

async function loadPreview(from: string): Promise<Preview> {
  const params = { applicationUsername: from };
  const [claims, grants] = await Promise.all([
    callApi(purchaseEndpoints.getCustomerClaims, { params, query: { limit: previewSize } }),
    callApi(entitlementEndpoints.listGrants, { params }),
  ]);
  return {
    from,
    products: claims.rows.map(
      ({ productId, platform }) => `${formatProductId(productId)}, ${formatPlatform(platform)}`,
    ),
    hasMore: claims.nextCursor !== undefined,
    grants: grants.rows.filter(({ isActive }) => isActive).map(({ entitlement }) => entitlement),
  };
}

function MergeDialog({ user, onDone, onClose }: MergeButtonProps & { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [preview, setPreview] = useState<Preview | undefined>();
  const [mergeId, setMergeId] = useState<string | undefined>();
  const find = useAction(async () => setPreview(await loadPreview(name.trim())));
  const merge = useAction(async (from: string) => {
    // One request moves a limited number of purchases.
    for (;;) {
      const params = { applicationUsername: user };
      const result = await callApi(mergeCustomerEndpoint, { params, body: { from } });
      if (!result.isComplete) continue;
      setMergeId(result.mergeId);
      announceResult(`${from} is merged into ${user}.`);
      return onDone();
    }
  });
  const command = `customer unmerge ${getSession()?.appName} ${user} ${mergeId}`;
  if (mergeId !== undefined)
    return (
      <Dialog title="The customers are merged" onClose={onClose}>
        <div class="dialog-body">
          <p>To move everything back, run this command:</p>
          <pre class="code">{command}</pre>
        </div>
        <div class="dialog-actions">
          <Button icon="copy" onClick={async () => await navigator.clipboard.writeText(command)}>
            Copy the command
          </Button>
          <Button kind="primary" onClick={onClose}>
            Close
          </Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog
      title={preview ? `Merge ${preview.from} into ${user}?` : `Merge a customer into ${user}`}
      isBusy={merge.isRunning}
      onClose={onClose}
    >
      <Form label="Merge a customer" onSubmit={() => (preview ? merge.run(preview.from) : find.run())}>
        {preview ? (
          <PreviewText preview={preview} user={user} />
        ) : (
          <TextField
            label="Other customer"
            value={name}
            onInput={setName}
            hint={`The customer who loses everything to ${user}, such as one who had not signed in yet`}
            isRequired
          />
        )}
        <ErrorNotice error={preview ? merge.error : find.error} />
        <div class="dialog-actions">
          <Button onClick={onClose} isDisabled={merge.isRunning}>
            Cancel
          </Button>
          <Button
            type="submit"
            kind={preview ? 'danger' : 'primary'}
            isBusy={find.isRunning || merge.isRunning}
            isDisabled={preview?.from === user}
          >
            {preview ? 'Merge' : 'Show what moves'}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

const maxListed = 5;

function PreviewText({ preview, user }: { readonly preview: Preview; readonly user: string }) {
  const { from, products, hasMore, grants } = preview;
  const others = products.length - maxListed;
  if (from === user) return <p class="dialog-body">{user} is this customer.</p>;
  return (
    <div class="dialog-body">
      <p>
        {products.length === 0
          ? `${from} claims no purchase.`
          : `Claimed purchases that move: ${hasMore ? 'more than ' : ''}${formatNumber(products.length)}`}
      </p>
      <ul class="facts">
        {products.slice(0, maxListed).map((product, index) => (
          <li key={`${product} ${index}`}>{product}</li>
        ))}
        {others > 0 && <li>and {formatNumber(others)} more</li>}
      </ul>
      <p>
        {grants.length > 0 ? `The grants of ${grants.join(', ')} move, too. ` : ''}
        The names by which stores know {from} and the credits move as well. {from} loses the access. The strategy of the
        app decides who owns each purchase. An operator can move everything back.
      </p>
    </div>
  );
}
