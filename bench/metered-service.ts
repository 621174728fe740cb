import type { TestService } from '../testing/service.ts';
import { type Meter, startMeter } from './units/meter.ts';
import { withServiceOn, withTableEngine } from './with-test-service.ts';

type Queues = Awaited<ReturnType<typeof import('../testing/work-queues.ts').startWorkQueues>>;

/** The handlers and workers with a table engine behind a meter, and with the emulated stores. */
export interface MeteredService {
  readonly service: TestService;
  readonly queues: Queues;
  readonly meter: Meter;
}

/** Starts the metered service, runs `use` and stops the service. */
export const withMeteredService = async <T>(use: (metered: MeteredService) => Promise<T>): Promise<T> =>
  await withTableEngine(async (endpoint) => {
    const meter = await startMeter(endpoint);
    try {
      return await withServiceOn(meter.endpoint, async (service) => {
        const { startWorkQueues } = await import('../testing/work-queues.ts');
        const queues = await startWorkQueues();
        try {
          return await use({ service, queues, meter });
        } finally {
          await queues.close();
        }
      });
    } finally {
      await meter.close();
    }
  });
