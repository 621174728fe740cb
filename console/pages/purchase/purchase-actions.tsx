import type { PurchaseAction } from '../../../lib/actions/contract.ts';
import type { PurchaseDetails } from '../../../lib/purchases/purchase-contract.ts';
import { useApi } from '../../api/use-api.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { ErrorNotice } from '../../components/notice.tsx';
import { CopyId } from '../../components/values.tsx';
import { useCanSupport } from '../../session.ts';
import { ActionButton, actionLabels } from './action-dialog.tsx';
import { purchaseEndpoints } from './purchase-endpoints.ts';

interface PurchaseActionsProps {
  readonly purchase: PurchaseDetails;
  /** Changes with the purchase. */
  readonly revision: string;
  readonly onDone: () => void;
}

/** A link in the explanation is for the customer. */
function Explanation({ effect, why }: PurchaseAction) {
  const text = effect ?? why ?? '';
  const [link] = /https:\S+\w/.exec(text) ?? [];
  const [before, after] = link === undefined ? [text] : text.split(link);
  return (
    <div class={effect === null ? 'wrap quiet' : 'wrap'}>
      {before}
      {link !== undefined && (
        <CopyId value={link} label="link for the customer">
          {link}
        </CopyId>
      )}
      {after}
    </div>
  );
}

/** What support can do with a purchase at its store, and why the rest is not possible. */
export function PurchaseActions({ purchase, revision, onDone }: PurchaseActionsProps) {
  const canSupport = useCanSupport();
  const { purchaseId } = purchase;
  const { data, error, reload } = useApi(
    purchaseEndpoints.listPurchaseActions,
    { params: { purchaseId } },
    { revision },
  );
  if (!data && error !== undefined) return <ErrorNotice error={error} onRetry={reload} />;
  const columns: readonly Column<PurchaseAction>[] = [
    { title: 'Action', render: ({ action }) => actionLabels[action] },
    {
      title: 'What happens, or why it is not possible',
      render: Explanation,
    },
    ...(canSupport
      ? [
          {
            title: 'Perform',
            render: (row: PurchaseAction) =>
              row.isPossible && <ActionButton action={row} purchase={purchase} onDone={onDone} />,
          },
        ]
      : []),
  ];
  return (
    <DataTable
      isOfRecords
      caption="Actions at the store"
      columns={columns}
      // The same action as `extend`.
      rows={data?.rows.filter(({ action }) => action !== 'defer')}
      getKey={({ action }) => action}
      empty={undefined}
    />
  );
}
