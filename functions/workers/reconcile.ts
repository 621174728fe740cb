import { deps } from '../../lib/deps.ts';
import { reconcile } from '../../lib/incoming/reconcile.ts';

export const handler = async (): Promise<void> => await reconcile(deps());
