import { useState } from 'preact/hooks';
import type { PurchaseDetails } from '../../../lib/purchases/purchase-contract.ts';
import { Button } from '../../components/button.tsx';
import type { CsvColumn } from '../../components/csv.ts';
import { CsvButton } from '../../components/csv-button.tsx';
import { Row } from '../../components/layout.tsx';
import { CopyId, Platform, shorten } from '../../components/values.tsx';
import { formatProductId } from '../../format.ts';
import { Link } from '../../router.tsx';
import type { PurchaseDescription } from '../purchase/describe-purchase.ts';
import { PurchaseState } from '../purchase/purchase-state.tsx';
import { OwnershipReason } from './ownership-reason.tsx';

export interface DescribedPurchaseRow {
  readonly purchase: PurchaseDetails;
  readonly description: PurchaseDescription;
  /** Version of the claims on the purchase. */
  readonly claimRevision: string | undefined;
}

/** Each reason is a request. */
const reasonsPerStep = 10;

/** Purchases with their state in words, and the reasons of the ownership of the first ones. */
export function PurchaseList({
  user,
  rows,
}: {
  readonly user: string;
  readonly rows: readonly DescribedPurchaseRow[];
}) {
  const [reasonCount, setReasonCount] = useState(reasonsPerStep);
  const missing = Math.min(reasonsPerStep, rows.length - reasonCount);
  return (
    <>
      <ul class="purchase-list">
        {rows.map(({ purchase: { purchaseId, productId, platform }, description, claimRevision }, index) => (
          <li key={purchaseId}>
            <h3>
              <Link to="/purchases/:id" params={{ id: purchaseId }}>
                {formatProductId(productId)}
              </Link>{' '}
              <span class="quiet">
                <Platform value={platform} />
              </span>{' '}
              <CopyId value={purchaseId} label="purchase id">
                <span class="quiet">{shorten(purchaseId, 22)}</span>
              </CopyId>
            </h3>
            <PurchaseState description={description} />
            {index < reasonCount && <OwnershipReason user={user} purchaseId={purchaseId} revision={claimRevision} />}
          </li>
        ))}
      </ul>
      <Row>
        {missing > 0 && (
          <Button onClick={() => setReasonCount(reasonCount + reasonsPerStep)}>
            Show the reasons of {missing} more {missing === 1 ? 'purchase' : 'purchases'}
          </Button>
        )}
        <CsvButton fileName="purchases" columns={csvColumns} rows={rows} />
      </Row>
    </>
  );
}

const csvColumns: readonly CsvColumn<DescribedPurchaseRow>[] = [
  { title: 'Purchase', csv: ({ purchase }) => purchase.purchaseId },
  { title: 'Product', csv: ({ purchase }) => purchase.productId },
  { title: 'Store', csv: ({ purchase }) => purchase.platform },
  { title: 'State', csv: ({ description }) => description.label },
  { title: 'Gives access', csv: ({ description }) => description.givesAccess },
  { title: 'Description', csv: ({ description }) => description.headline },
  { title: 'Purchased', csv: ({ purchase }) => purchase.purchaseDate },
  { title: 'Access until', csv: ({ purchase }) => purchase.expirationDate },
  { title: 'Sandbox', csv: ({ purchase }) => purchase.sandbox },
];
