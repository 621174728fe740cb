import { deps } from '../../lib/deps.ts';
import { loadRates } from '../../lib/money/exchange-rates/load-rates.ts';

export const handler = async (): Promise<void> => await loadRates(deps());
