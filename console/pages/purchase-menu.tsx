import { CopyItem } from '../components/menu.tsx';
import { Link } from '../router.tsx';

/** The entries of the menu of a row about a purchase. */
export const PurchaseMenu = ({ purchaseId }: { readonly purchaseId: string }) => (
  <>
    <Link to="/purchases/:id" params={{ id: purchaseId }}>
      Open the purchase
    </Link>
    <Link to="/events" query={{ tag: purchaseId }}>
      Show the events
    </Link>
    <CopyItem value={purchaseId} name="purchase id" />
  </>
);
