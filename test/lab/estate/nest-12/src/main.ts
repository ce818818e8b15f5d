import { NestFactory } from '@nestjs/core';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { AppModule } from './app.module.js';
import { transportOf } from './transports.js';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks();
  const description = new DocumentBuilder().setTitle('Our app').addBearerAuth().build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, description));
  app.connectMicroservice<MicroserviceOptions>(transportOf(process.env));
  await app.listen(process.env.PORT ?? 3000, 'localhost');
  // After listen(), or handlers may run before the app is ready.
  await app.startAllMicroservices();
  console.log(`listening on ${await app.getUrl()}`);
}
await bootstrap();
