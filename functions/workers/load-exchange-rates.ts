import { emulator, now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { createExchangeRateRepository } from '../../lib/db/exchange-rate-repository.ts';
import { loadRates } from '../../lib/money/exchange-rates/load-rates.ts';
import { once } from '../../lib/shared/once.ts';
import { createStopwatch } from '../../lib/shared/stopwatch.ts';
import { createRecordedFetch } from '../../lib/stores/recorded-fetch.ts';

const deps = once(() => {
  const { url, timeFactor } = emulator();
  return {
    now,
    dailyRates: createExchangeRateRepository(table()),
    // The rates belong to no app, so the request is not recorded in an event.
    fetchText: createRecordedFetch({
      storeName: 'The European Central Bank',
      record: () => {},
      now,
      stopwatch: createStopwatch(timeFactor),
      ...(url && { storesUrl: url }),
    }),
  };
});

export const handler = async (): Promise<void> => await loadRates(deps());
