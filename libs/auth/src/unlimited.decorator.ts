import { Reflector } from '@nestjs/core';

/** For a route or a controller that no rate limit may touch, such as a health check. */
export const Unlimited = Reflector.createDecorator({ transform: () => true });
