import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiResponse;

/**
 * Calls all operations of the client that openapi-generator made: Calls URL IDENTIFIER. It prints the
 * name of each, how many records came, and X-Total-Count, with tabs between.
 */
public class Calls {
    private static final String PACKAGE = "org.openapitools.client.api.";
    private static final int LIMIT = 7;

    public static void main(String[] args) throws Exception {
        ApiClient client = new ApiClient();
        client.setBasePath(args[0]);
        for (String group : new String[] {
            "AffectedPeople", "Climate", "CoordinationContext", "FoodSecurityNutritionPoverty",
            "GeographyInfrastructure", "Metadata", "Utility"
        }) {
            Class<?> api = Class.forName(PACKAGE + group + "Api");
            Object calls = api.getConstructor(ApiClient.class).newInstance(client);
            for (Method method : api.getDeclaredMethods()) {
                if (method.getName().endsWith("WithHttpInfo")) {
                    call(calls, method, args[1]);
                }
            }
        }
    }

    private static void call(Object calls, Method method, String identifier) throws Exception {
        Object[] values = Arrays.stream(method.getParameters()).map(p -> switch (p.getName()) {
            case "appIdentifier" -> identifier;
            case "limit" -> LIMIT;
            case "application" -> "my-app";
            case "email" -> "me@example.org";
            default -> null;
        }).toArray();
        ApiResponse<?> answer = (ApiResponse<?>) method.invoke(calls, values);
        List<?> records = List.of();
        String total = "0";
        if (answer.getHeaders().containsKey("x-total-count")) {
            total = answer.getHeaders().get("x-total-count").get(0);
            records = (List<?>) answer.getData().getClass().getMethod("getData").invoke(answer.getData());
        }
        System.out.println(method.getName().replace("WithHttpInfo", "") + "\t" + records.size() + "\t" + total);
    }
}
