import { EmbeddedPostgres } from '@time-logs/embedded-postgres';
import { eventRelay } from '../libs/event-relay/src/composition.js';
import { fileAttributes } from '../libs/attributes/src/composition.js';
import { jwts } from '../libs/jwt/src/index.js';
import type { EmbeddedDatabases } from './database/setup/index.js';
import type { AttributesPackage, ServiceModule } from './service-module.js';
import { timeLogMessages } from '../libs/messages/src/composition.js';

/** The optional modules. The core compiles and runs without each of them. */
export const PACKAGES: readonly ServiceModule[] = [timeLogMessages, eventRelay, jwts];

/** Starts a database if none is configured. If undefined, the service needs `DATABASE_URL`. */
export const EMBEDDED_DATABASES: EmbeddedDatabases | undefined = EmbeddedPostgres;

/** Reads `ATTRIBUTES_SCHEMA`. If undefined, logs have no attributes. */
export const ATTRIBUTES: AttributesPackage | undefined = fileAttributes;
