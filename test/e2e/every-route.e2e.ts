import { describePath, describeRoute, ROUTES } from '../support/describe-route.js';
import { DECLARED_TOKEN } from '../support/environment.js';
import { useTestApp } from '../support/test-app.js';

const app = useTestApp({ declaredTokens: [DECLARED_TOKEN] });

for (const route of ROUTES) describeRoute(app, route);
for (const path of new Set(ROUTES.map((route) => route.path))) describePath(app, path);
