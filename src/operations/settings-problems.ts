import type { Engine } from '../engine/engine.ts';
import { proxies } from '../engine/proxy/proxies.ts';
import { personSettings } from '../engine/settings/settings.ts';
import { policies } from '../policy/policies.ts';

/** Settings files that cannot be understood, each with its path, line and reason. They are left as they are. */
export const problemsOf = (engine: Engine): string[] => [
  ...engine.service(personSettings).problems,
  ...[engine.service(policies).problem, engine.service(proxies).problem, engine.logs?.settings.problem].filter(
    (one) => one !== undefined,
  ),
];
