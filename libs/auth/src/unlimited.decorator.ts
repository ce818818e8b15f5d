import { Reflector } from '@nestjs/core';

/** Exempts a route or a controller, such as a health check, from the rate limit. */
export const Unlimited = Reflector.createDecorator({ key: 'time-logs.unlimited', transform: () => true });
