import { diagnoseStoreSettings } from '../../lib/health/diagnose-store-settings.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { checkStore } from '../../lib/stores/contract.ts';

export const handler = createHandler(checkStore)(async ({ app, params, recorder }, service) => {
  const diagnosis = await diagnoseStoreSettings(service, app.name, { platform: params.platform, recorder });
  const { platform, isConnected, summary, findings } = diagnosis;
  const errors = findings.filter(({ severity }) => severity === 'error');
  recorder.addContent({ refreshFailures: errors.map(({ problem }) => ({ platform, reason: problem })) });
  return {
    platform,
    isConnected,
    ok: isConnected && errors.length === 0,
    ...(summary !== undefined && { summary }),
    findings: findings.map(({ code, severity, problem, cure }) => ({ code, severity, problem, cure })),
  };
});
