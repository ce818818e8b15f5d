import { NestFactory } from '@nestjs/core';
import { type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { AppModule } from './app.module';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks();
  const description = new DocumentBuilder().setTitle('Our app').addBearerAuth().build();
  SwaggerModule.setup('docs', app, () => SwaggerModule.createDocument(app, description));
  const port = Number(process.env.MESSAGES_PORT ?? 3001);
  app.connectMicroservice<MicroserviceOptions>({ transport: Transport.TCP, options: { port } });
  await app.listen(process.env.PORT ?? 3000, 'localhost');
  // After listen(), or handlers may run before the app is ready.
  await app.startAllMicroservices();
  console.log(`listening on ${await app.getUrl()}`);
}
void bootstrap();
