import { deps } from '../../lib/deps.ts';
import { collect } from '../../lib/incoming/reconcile.ts';

export const handler = async (): Promise<void> => await collect(deps());
