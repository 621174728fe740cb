import { dailyRates, emulator, now, provideDeps } from '../../lib/deps.ts';
import { loadRates } from '../../lib/money/exchange-rates/load-rates.ts';

const deps = provideDeps({ dailyRates, emulator, now });

export const handler = async (): Promise<void> => await loadRates(deps);
