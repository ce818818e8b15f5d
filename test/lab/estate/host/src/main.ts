import { NestFactory } from '@nestjs/core';
import { type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { TimeLogModule } from 'time-logs/time-log';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks();
  const description = new DocumentBuilder()
    .setTitle('Our app')
    .setOpenAPIVersion('3.1.0')
    .addBearerAuth()
    .build();
  SwaggerModule.setup('docs', app, () => {
    const document = SwaggerModule.createDocument(app, description);
    const { paths, schemas } = app.get(TimeLogModule).openApiPaths('/api/v1');
    Object.assign(document.paths, paths);
    document.components = {
      ...document.components,
      schemas: { ...document.components?.schemas, ...schemas },
    };
    return document;
  });
  const port = Number(process.env.MESSAGES_PORT ?? 3001);
  app.connectMicroservice<MicroserviceOptions>({ transport: Transport.TCP, options: { port } });
  await app.listen(process.env.PORT ?? 3000, 'localhost');
  // After listen(), or handlers may run before the app is ready.
  await app.startAllMicroservices();
  console.log(`listening on ${await app.getUrl()}`);
}
void bootstrap();
