package sqlstream.flink;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.functions.FunctionKind;
import org.apache.flink.table.functions.UserDefinedFunction;
import org.apache.flink.table.functions.UserDefinedFunctionHelper;
import org.apache.flink.table.runtime.dataview.DataViewUtils;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.extraction.ExtractionUtils;
import org.apache.flink.table.types.inference.TypeInferenceUtil;
import org.apache.flink.table.types.inference.TypeInferenceUtil.StateInfo;

/**
 * Answers what functions in Java take and give: on its stdin a question a line, on its stdout the answers, all as JSON.
 */
public final class Signatures {
    private static final ObjectMapper JSON =
            new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

    private Signatures() {}

    /**
     * A question.
     *
     * @param jars the user's
     * @param implementation the name of a class
     * @param arguments types, as SQL writes them; null: only what the function is is asked
     * @param literals the values of constant arguments, null for others
     */
    public record Question(
            List<String> jars, String implementation, String name, List<String> arguments, List<Object> literals) {}

    public static void main(String[] arguments) throws IOException {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        // What a class of the user's prints is no answer.
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(JSON.writeValueAsString(answer(JSON.readValue(line, Question.class))));
            out.flush();
        }
    }

    private static Map<String, Object> answer(Question question) {
        Map<String, Object> told = new LinkedHashMap<>();
        try {
            ClassLoader loader = UserJars.loader(question.jars(), urls(question.jars()));
            Thread.currentThread().setContextClassLoader(loader);
            UserDefinedFunction function = Inference.instance(loader, question.implementation());
            told.put("kind", function.getKind().name());
            told.put("deterministic", function.isDeterministic());
            told.put(
                    "retracts",
                    !ExtractionUtils.collectMethods(function.getClass(), UserDefinedFunctionHelper.AGGREGATE_RETRACT)
                            .isEmpty());
            if (question.arguments() == null) {
                Inference.Call call = Inference.call(loader, function, question.name(), List.of(), List.of());
                told.put(
                        "signature",
                        TypeInferenceUtil.generateSignature(
                                function.getTypeInference(call.factory()), question.name(), function));
                return told;
            }
            Inference.Call call =
                    Inference.call(loader, function, question.name(), question.arguments(), question.literals());
            TypeInferenceUtil.Result types = Inference.of(call);
            told.put(
                    "arguments",
                    types.getExpectedArgumentTypes().stream()
                            .map(Signatures::written)
                            .toList());
            StateInfo kept = types.getStateInfos().get(UserDefinedFunctionHelper.DEFAULT_ACCUMULATOR_NAME);
            told.put("accumulates", kept != null && isPlain(kept.getDataType()));
            DataType result = types.getOutputDataType();
            told.put(
                    "result",
                    function.getKind() == FunctionKind.TABLE
                            ? Values.row(result.getLogicalType()).asSerializableString()
                            : written(result));
        } catch (RuntimeException | LinkageError e) {
            told.put("error", message(e));
        }
        return told;
    }

    private static String written(DataType type) {
        return Values.plain(type.getLogicalType()).asSerializableString();
    }

    private static boolean isPlain(DataType type) {
        try {
            return DataViewUtils.extractDataViews(0, type).isEmpty() && written(type) != null;
        } catch (ValidationException raw) {
            return false;
        }
    }

    /** What an error and its causes say, each once. */
    private static String message(Throwable error) {
        StringBuilder said = new StringBuilder();
        for (Throwable e = error; e != null; e = e.getCause()) {
            String text = e.getMessage() == null ? e.getClass().getName() : e.getMessage();
            if (said.indexOf(text) < 0) {
                said.append(said.isEmpty() ? "" : "\n").append(text);
            }
        }
        return said.toString();
    }

    private static URL[] urls(List<String> paths) {
        URL[] found = new URL[paths.size()];
        for (int i = 0; i < found.length; i++) {
            try {
                found[i] = new File(paths.get(i)).toURI().toURL();
            } catch (MalformedURLException e) {
                throw new IllegalArgumentException(e);
            }
        }
        return found;
    }
}
