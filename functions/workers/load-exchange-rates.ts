import { getService } from '../../lib/foundation/get-service.ts';
import { createStopwatch } from '../../lib/foundation/stopwatch.ts';
import { loadRates } from '../../lib/money/exchange-rates/load-rates.ts';
import { createRecordedFetch } from '../../lib/stores/recorded-fetch.ts';

export const handler = async (): Promise<void> => {
  const service = getService();
  const { url, timeFactor } = service.emulator;
  // The rates belong to no app, so the request is not recorded in an event.
  const fetchText = createRecordedFetch({
    storeName: 'The European Central Bank',
    record: () => {},
    now: service.now,
    stopwatch: createStopwatch(timeFactor),
    ...(url && { storesUrl: url }),
  });
  await loadRates(service, { fetchText });
};
