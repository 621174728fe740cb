import { addStreamFailureCount } from '../../lib/foundation/count-messages.ts';
import { getStreamFailuresUrl } from '../../lib/foundation/get-service.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { getDue } from '../../lib/problems/contract.ts';
import { readBacklogs } from '../../lib/problems/read-backlogs.ts';

export const handler = createHandler(getDue)(async ({ app }, service) => ({
  appName: app.name,
  ...(await readBacklogs(addStreamFailureCount(service, getStreamFailuresUrl()), app)),
}));
