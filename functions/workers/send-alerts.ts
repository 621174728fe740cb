import { addStreamFailureCount } from '../../lib/foundation/count-messages.ts';
import { getService, getStreamFailuresUrl } from '../../lib/foundation/get-service.ts';
import { sendAlerts } from '../../lib/problems/send-alerts.ts';

export const handler = async (): Promise<void> =>
  await sendAlerts(addStreamFailureCount(getService(), getStreamFailuresUrl()));
