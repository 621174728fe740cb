import { checkStore } from '../../lib/api/stores.ts';
import { loadStore, storeContextProviders } from '../../lib/deps.ts';
import { diagnoseStoreSettings } from '../../lib/health/diagnose-store-settings.ts';
import { createHandler } from '../../lib/http/endpoint.ts';

export const handler = createHandler(checkStore, { ...storeContextProviders, loadStore })(
  async ({ app, params, recorder }, deps) => {
    const diagnosis = await diagnoseStoreSettings(app.name, params.platform, { recorder, deps });
    const { platform, isConnected, summary, findings } = diagnosis;
    return {
      platform,
      isConnected,
      ok: isConnected && !findings.some(({ severity }) => severity === 'error'),
      ...(summary !== undefined && { summary }),
      findings: findings.map(({ code, severity, problem, cure }) => ({ code, severity, problem, cure })),
    };
  },
);
