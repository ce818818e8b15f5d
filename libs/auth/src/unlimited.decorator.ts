import { Reflector } from '@nestjs/core';

/** For a route or a controller without a rate limit, such as a health check. */
export const Unlimited = Reflector.createDecorator({ key: 'time-logs.unlimited', transform: () => true });
