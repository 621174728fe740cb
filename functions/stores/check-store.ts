import { createHandler } from '../../composition/endpoint.ts';
import { storeContextDeps } from '../../composition/store-context.ts';
import { checkStore } from '../../lib/api/stores.ts';
import { diagnoseStoreSettings } from '../../lib/health/diagnose-store-settings.ts';
import { loadStore } from '../../lib/stores/index.ts';

export const handler = createHandler(checkStore, () => ({ ...storeContextDeps(), loadStore }))(
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
