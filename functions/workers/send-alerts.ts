import { getService } from '../../lib/foundation/container.ts';
import { addStreamFailureCount } from '../../lib/foundation/count-messages.ts';
import { sendAlerts } from '../../lib/problems/send-alerts.ts';

export const handler = async (): Promise<void> => await sendAlerts(addStreamFailureCount(getService()));
