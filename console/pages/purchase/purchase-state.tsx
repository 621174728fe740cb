import { Badge } from '../../components/values.tsx';
import type { PurchaseDescription } from './describe-purchase.ts';

/** The state of a purchase in words. */
export const PurchaseState = ({ description }: { readonly description: PurchaseDescription }) => (
  <div class="purchase-state">
    <p class="purchase-headline">
      <Badge tone={description.tone}>{description.label}</Badge> <span>{description.headline}</span>
    </p>
    {description.remarks.length > 0 && (
      <ul class="purchase-remarks">
        {description.remarks.map((remark) => (
          <li key={remark}>{remark}</li>
        ))}
      </ul>
    )}
  </div>
);
